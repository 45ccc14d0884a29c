from tempera.check.__main__ import main

main()
