namespace tempera::reference {}
