// All that a pasted `nvidia-smi topo -m` says, as printed: devices, connection classes, affinities, what is
// missing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/topology/smi/clean.hpp"
#include "model/topology/smi/tokens.hpp"

namespace wirewise::smi {

struct Device {
    std::string column;               // as the header has it: "GPU0", "NIC0", "mlx5_0"
    std::string name;                 // a NIC's name from the legend, else the column
    const GpuModel* model = nullptr;  // where the text names this GPU
    std::string busid;
    std::vector<std::pair<std::string, std::optional<std::string>>> affinity;  // heading -> printed text
    bool gpu = false;
    bool row_found = false;
};

class Matrix {
  public:
    std::vector<Device> devices;  // in column order
    std::vector<std::string> missing, warnings;
    bool columns_missing = false;           // a device has a row but no column
    std::optional<bool> pcie_peer_to_peer;  // as a -p2p matrix beside it says

    void resize_cells() { cells_.resize(devices.size() * devices.size()); }
    void set(std::size_t row, std::size_t column, const PrintedClass& printed) {
        cells_[at(row, column)] = printed;
    }
    // From either row; nothing: neither prints it.
    std::optional<PrintedClass> cell(std::size_t a, std::size_t b) const {
        return cells_[at(a, b)] ? cells_[at(a, b)] : cells_[at(b, a)];
    }
    std::optional<PrintedClass> printed_in_row(std::size_t row, std::size_t column) const {
        return cells_[at(row, column)];
    }
    std::vector<std::size_t> gpus() const;
    std::vector<std::size_t> nics() const;
    bool gpu_wiring_known() const;  // every pair of GPUs, and every NIC to some device

  private:
    std::size_t at(std::size_t row, std::size_t column) const { return row * devices.size() + column; }
    std::vector<std::optional<PrintedClass>> cells_;
};

// What the text holds when it is no topo -m matrix.
enum class OtherMatrix : std::uint8_t { none, peer_access, weights };

struct Reading {
    std::optional<Matrix> matrix;
    OtherMatrix other = OtherMatrix::none;
};

Reading read_matrix(const std::vector<std::string>& lines, Repairs& repairs);

}  // namespace wirewise::smi
