#include "model/topology/smi/matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/topology/smi/affinity.hpp"
#include "model/topology/smi/blocks.hpp"
#include "model/topology/smi/notes.hpp"

namespace wirewise::smi {
namespace {

// Where the header is lost, the rows name the columns; NIC columns beyond them stay unknown.
std::vector<std::string> columns_of(const Block& block, Matrix& matrix) {
    if (block.header) {
        if (block.header->cut) matrix.missing.emplace_back("the end of the header line");
        return block.header->devices;
    }
    matrix.missing.emplace_back("the header line (column names)");
    std::vector<std::string> names;
    for (const Row& row : block.rows)
        if (names.size() < kMostDevices && std::find(names.begin(), names.end(), row.device) == names.end())
            names.push_back(row.device);
    return names;
}

std::optional<std::size_t> find_column(const Matrix& matrix, const std::string& name) {
    for (std::size_t i = 0; i < matrix.devices.size(); ++i)
        if (matrix.devices[i].column == name) return i;
    return std::nullopt;
}

void add_devices(const std::vector<std::string>& names, Matrix& matrix) {
    for (const std::string& name : names) {
        if (find_column(matrix, name)) {
            matrix.warnings.push_back(fmt::format("column {} stands twice: the first is read", name));
            continue;
        }
        Device device;
        device.column = device.name = name;
        device.gpu = is_gpu_name(name);
        matrix.devices.push_back(std::move(device));
    }
    matrix.resize_cells();
}

// A lost cell shifts those after it; the X on the diagonal shows it. Such a row is not believed.
bool aligned(const Row& row, const std::vector<std::string>& columns) {
    for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i)
        if ((row.cells[i].path == PathClass::self) != (columns[i] == row.device)) return false;
    return true;
}

// Where a row stops too early: at its end, or at a word that is no class.
std::string first_unread(const Row& row, const std::vector<std::string>& columns) {
    const auto begin = row.rest.find_first_not_of(" \t");
    if (begin == std::string::npos)
        return fmt::format("row {} after its cell {} of {} (line {})", row.device, row.cells.size(),
                           columns.size(), row.line);
    const std::string word = row.rest.substr(begin, row.rest.find_first_of(" \t", begin) - begin);
    return fmt::format(
        "row {} after its cell {} of {}: line {} has \"{}\" under {}, where NV# (as NV4), PIX, "
        "PXB, PHB, NODE or SYS is wanted",
        row.device, row.cells.size(), columns.size(), row.line, word.substr(0, 24),
        columns[row.cells.size()]);
}

void read_row(const Row& row, const std::vector<std::string>& columns, const Block& block, Matrix& matrix) {
    const auto index = find_column(matrix, row.device);
    if (!index) return;  // noted below, together with its like
    Device& device = matrix.devices[*index];
    if (!aligned(row, columns)) {
        matrix.missing.push_back(
            fmt::format("a cell of row {}: its X does not stand under its own name", row.device));
        device.row_found = true;
        return;
    }
    const bool again = device.row_found;
    device.row_found = true;
    bool differs = false;
    for (std::size_t i = 0; i < row.cells.size() && i < columns.size(); ++i) {
        const std::size_t column = *find_column(matrix, columns[i]);
        const auto before = matrix.printed_in_row(*index, column);
        if (!before) matrix.set(*index, column, row.cells[i]);
        differs = differs || (again && before && *before != row.cells[i]);
    }
    if (differs)
        matrix.warnings.push_back(
            fmt::format("row {} stands twice and differs: the first is read", row.device));
    if (row.cells.size() < columns.size()) matrix.missing.push_back(first_unread(row, columns));
    if (row.cells.size() > columns.size())
        matrix.missing.push_back(fmt::format("column names: row {} has {} cells, the header {}", row.device,
                                             row.cells.size(), columns.size()));
    if (device.gpu && block.header && !again) device.affinity = affinity_of(row, *block.header);
}

void note_unplaced_rows(const Block& block, Matrix& matrix) {
    std::set<std::string> names;
    for (const Row& row : block.rows)
        if (!find_column(matrix, row.device)) names.insert(row.device);
    matrix.columns_missing = !names.empty();
    if (matrix.columns_missing)
        matrix.missing.push_back(fmt::format("column{} {}: a row but no place in the header",
                                             names.size() > 1 ? "s" : "", fmt::join(names, ", ")));
}

// A line that begins with the device but holds no class: its first cell is garbled.
std::optional<Row> garbled_row(const std::string& device, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto begin = lines[i].find_first_not_of(" \t");
        if (begin == std::string::npos || !lines[i].substr(begin).starts_with(device)) continue;
        const std::string rest = lines[i].substr(begin + device.size());
        if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t') || header_in(lines[i])) continue;
        Row row;
        row.device = device;
        row.rest = rest;
        row.line = i + 1;
        return row;
    }
    return std::nullopt;
}

void note_missing_rows(Matrix& matrix, const std::vector<std::string>& columns,
                       const std::vector<std::string>& lines) {
    std::vector<std::string> rows;
    for (const Device& device : matrix.devices) {
        if (device.row_found) continue;
        const auto garbled = garbled_row(device.column, lines);
        rows.push_back(garbled ? first_unread(*garbled, columns).substr(4) : device.column);
    }
    if (!rows.empty())
        matrix.missing.push_back(fmt::format("row{} {}", rows.size() > 1 ? "s" : "", fmt::join(rows, ", ")));
}

// The two rows of a pair must agree. The worse reading is kept: NVLinks that one end does not see do not
// work.
void settle_disagreements(Matrix& matrix) {
    for (std::size_t a = 0; a < matrix.devices.size(); ++a)
        for (std::size_t b = a + 1; b < matrix.devices.size(); ++b) {
            const auto there = matrix.printed_in_row(a, b), back = matrix.printed_in_row(b, a);
            if (!there || !back || *there == *back) continue;
            const bool back_is_worse = back->path > there->path || back->nvlinks < there->nvlinks;
            matrix.set(a, b, back_is_worse ? *back : *there);
            matrix.warnings.push_back(fmt::format(
                "{} and {} disagree on their connection ({}, {}): {} is taken", matrix.devices[a].column,
                matrix.devices[b].column, to_text(*there), to_text(*back), to_text(*matrix.cell(a, b))));
        }
}

Matrix matrix_of(const Block& block, const std::vector<std::string>& lines) {
    Matrix matrix;
    const std::vector<std::string> columns = columns_of(block, matrix);
    add_devices(columns, matrix);
    for (const Row& row : block.rows) read_row(row, columns, block, matrix);
    note_unplaced_rows(block, matrix);
    note_missing_rows(matrix, columns, lines);
    settle_disagreements(matrix);
    return matrix;
}

// Peer access of the pairs that have no NVLink, where the -p2p matrix answers alike for all of them.
void read_peer_access(const Block& block, Matrix& matrix) {
    std::set<bool> answers;
    for (const Row& row : block.rows) {
        const auto a = find_column(matrix, row.device);
        if (!a || !block.header) continue;
        for (std::size_t i = 0; i < row.peers.size() && i < block.header->devices.size(); ++i) {
            const auto b = find_column(matrix, block.header->devices[i]);
            if (!b || *a == *b) continue;
            const auto printed = matrix.cell(*a, *b);
            if (printed && printed->path != PathClass::nvlink) answers.insert(row.peers[i]);
        }
    }
    if (answers.size() == 1) matrix.pcie_peer_to_peer = *answers.begin();
    if (answers.size() == 2)
        matrix.warnings.emplace_back("the -p2p matrix allows some PCIe pairs and refuses others");
}

const Block* chosen(const std::vector<const Block*>& blocks) {
    for (const Block* block : blocks)
        if (block->whole()) return block;
    for (const Block* block : blocks)
        if (block->header) return block;
    return blocks.front();
}

}  // namespace

std::vector<std::size_t> Matrix::gpus() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (devices[i].gpu) all.push_back(i);
    // By number, wherever their columns stand.
    const auto number = [&](std::size_t i) { return std::stoi(devices[i].column.substr(3)); };
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return number(a) < number(b); });
    return all;
}

std::vector<std::size_t> Matrix::nics() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!devices[i].gpu) all.push_back(i);
    return all;
}

bool Matrix::gpu_wiring_known() const {
    const std::vector<std::size_t> all = gpus();
    if (columns_missing) return false;
    for (const std::size_t a : all)
        for (std::size_t b = 0; b < devices.size(); ++b)
            if (a != b && !cell(a, b)) return false;
    return !all.empty();
}

Reading read_matrix(const std::vector<std::string>& lines, Repairs& repairs) {
    Repairs tentative = repairs;
    const std::vector<Block> blocks = blocks_in(lines, tentative);
    std::vector<const Block*> matrices;
    Reading reading;
    for (const Block& block : blocks) {
        if (block.kind() == CellKind::connection) matrices.push_back(&block);
        if (block.kind() == CellKind::peer_access) reading.other = OtherMatrix::peer_access;
        if (block.kind() == CellKind::number) reading.other = OtherMatrix::weights;
    }
    if (matrices.empty()) return reading;
    repairs = tentative;
    Matrix matrix = matrix_of(*chosen(matrices), lines);
    if (matrix.gpus().empty()) return reading;
    if (matrices.size() > 1)
        matrix.warnings.push_back(
            fmt::format("the text holds {} matrices: one is read, {}", matrices.size(),
                        chosen(matrices)->whole() ? "the first whole one" : "the first"));
    for (const Block& block : blocks)
        if (block.kind() == CellKind::peer_access) read_peer_access(block, matrix);
    read_notes(lines, matrix);
    reading.matrix = std::move(matrix);
    return reading;
}

}  // namespace wirewise::smi
