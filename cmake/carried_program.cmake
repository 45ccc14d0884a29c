# A program of the CUDA build is carried to machines that have a driver and nothing else: what is linked into it there may
# be no library that such a machine lacks.
set(carried_by_default OFF)
if(TEMPERA_DEVICE STREQUAL "CUDA")
  set(carried_by_default ON)
endif()
option(TEMPERA_CARRIED "Link programs so that they run on a machine without our libraries" ${carried_by_default})

# tempera_link_names(VARIABLE NAME…): how these libraries are named to the linker. Static archives have no other
# file beside them to look for.
function(tempera_link_names variable)
  set(names)
  foreach(name IN LISTS ARGN)
    if(TEMPERA_CARRIED)
      find_library(archive_of_${name} lib${name}.a)
      if(NOT archive_of_${name})
        message(FATAL_ERROR "lib${name}.a is missing: install the package in packages.txt that has it, or give "
          "-DTEMPERA_CARRIED=OFF for a program that runs on this machine alone")
      endif()
      list(APPEND names -l:lib${name}.a)
    else()
      list(APPEND names ${name})
    endif()
  endforeach()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# tempera_carried_program(TARGET): takes the compiler's own libraries in too.
function(tempera_carried_program target)
  if(TEMPERA_CARRIED)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
  endif()
endfunction()

# What checks/carried_libraries links if no program is built yet: a few lines that need every library that
# `tempera` and `gpu_check` need.
if(TEMPERA_CARRIED AND TEMPERA_DEVICE STREQUAL "CUDA")
  add_executable(carried_probe EXCLUDE_FROM_ALL cmake/carried_probe.cpp)
  tempera_link_names(probe_libraries pcre2-8 utf8proc mpfr gmp)
  target_link_libraries(carried_probe PRIVATE ${probe_libraries} ${TEMPERA_DEVICE_LIBRARIES})
  tempera_carried_program(carried_probe)
endif()
