namespace tempera::lab {}
