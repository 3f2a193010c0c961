// How much a topology XML describes, looked at before it is read.
#pragma once

#include <string>

#include <pugixml.hpp>

namespace wirewise::xml {

// Why the tree can be no server's ("5000 CPUs"); empty: it can. A file is never read in part.
std::string beyond_a_server(const pugi::xml_node& system);

}  // namespace wirewise::xml
