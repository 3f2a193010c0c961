// What `wirewise topo` answers, as JSON.
#pragma once

#include "model/topology/import.hpp"
#include "model/topology/json_view.hpp"

namespace wirewise {

// {schema, verdict, kind, repairs[], missing[], warnings[], gpus[], nics[], pairs[], islands[]}: keys of
// INTERFACE.
Json topology_report(const ImportResult& result);

// The same for people: a line of verdict, the matrix with islands, what was repaired or is missing.
std::string topology_table(const ImportResult& result);

}  // namespace wirewise
