# A text that a program prints or sends as it is, in a C++ source made from `template`, which has it as @TEMPERA_TEXT@.
function(tempera_text_source text template source)
  file(READ ${text} TEMPERA_TEXT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${text})
  configure_file(${template} ${source} @ONLY)
endfunction()
