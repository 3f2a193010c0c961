#include "model/topology/topologies.hpp"

#include "model/units/error.hpp"

namespace wirewise {

std::string_view topology_file(std::string_view name) {
    for (const EmbeddedFile& file : topology_files())
        if (file.name == name) return file.text;
    fail_invariant("a topology file is not compiled in", std::source_location::current());
}

}  // namespace wirewise
