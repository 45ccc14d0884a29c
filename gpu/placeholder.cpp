namespace tempera::gpu {}
