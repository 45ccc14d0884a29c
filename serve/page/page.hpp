#pragma once

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The page on which people watch a run as it happens: one HTML file that loads nothing else.
HttpResponse page();

}  // namespace tempera::serve
