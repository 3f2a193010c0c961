// Reads what people paste: our JSON, `nvidia-smi topo -m` text, NCCL topology XML. Never throws on bad text:
// the verdict says what it is, and nothing is invented.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/topology/machine.hpp"

namespace wirewise {

// ok: as is. ok_with_repair: after the repairs listed. incomplete: something is missing, listed; the machine
// is there when the wiring of its GPUs is whole all the same. reject: it is something else, said in
// `warnings`.
enum class Verdict : std::uint8_t { ok, ok_with_repair, incomplete, reject };
std::string_view name_of(Verdict verdict);

struct ImportHints {
    const GpuModel* gpu = nullptr;  // --gpu: the kind of every GPU the text does not name
    std::string name = "pasted";    // of the machine, and in messages
};

// What the text says of one GPU or NIC. Affinities are kept as printed; nothing: a blank cell.
struct GpuFacts {
    std::string id, model, busid;  // "GPU0", "h200-sxm" or empty, "0000:18:00.0" or empty
    std::vector<std::pair<std::string, std::optional<std::string>>> affinity;  // "CPU Affinity" -> "0-31"
};
struct NicFacts {
    std::string id, name;  // "NIC0", "mlx5_0"
};
struct PairFacts {
    std::string a, b;
    std::string path;  // as nvidia-smi prints it: "NV12", "PIX", "SYS"
    int nvlinks = 0;
    std::optional<BytesPerSecond> bandwidth;  // usable, one way; nothing where the graph is not whole
};
struct TopologyFacts {
    std::vector<GpuFacts> gpus;
    std::vector<NicFacts> nics;
    std::vector<PairFacts> pairs;           // every unordered pair that is known
    std::vector<std::vector<int>> islands;  // GPU sets joined by NVLink, xGMI or NVSwitch
};
TopologyFacts facts_of(const Machine& machine);  // of one server

struct ImportResult {
    Verdict verdict = Verdict::reject;
    std::string kind;  // "nvidia-smi topo -m text"
    std::vector<std::string> repairs, missing, warnings;
    std::optional<Machine> machine;
    TopologyFacts facts;
};

// All of a file, pipe or device, at most 16 MiB; throws InputError when it is no topology by its size.
std::string read_topology(std::istream& from, const std::string& place);

ImportResult import_machine(std::string_view text, const ImportHints& hints = {});

// A file, named after its last part. Throws InputError where there is none, and names built-ins near it.
ImportResult import_file(std::string_view path, ImportHints hints = {});

// The machine, or an InputError that says why there is none; repairs and warnings are appended to `notes`.
Machine machine_of(ImportResult result, std::string_view place, std::vector<std::string>& notes);

// A built-in name or a file: what --machine takes beside "-". Throws InputError where no machine comes of it.
Machine load_machine(std::string_view what, const ImportHints& hints, std::vector<std::string>& notes);

}  // namespace wirewise
