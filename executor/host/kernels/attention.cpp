#include "executor/host/kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/host/kernels/matrix.hpp"

namespace wirewise::host {

namespace {

constexpr std::int64_t kQueryBlock = 64;

// A block of queries [first, first + rows) of one sequence, and the keys [low, low + keys) that they see.
struct Tile {
    std::int64_t first, rows, low, keys;
};

Tile tile_at(const Attention& shape, std::int64_t first) {
    const std::int64_t rows = std::min(kQueryBlock, shape.sequence - first);
    const std::int64_t low = shape.window > 0 ? std::max<std::int64_t>(0, first - shape.window + 1) : 0;
    return {first, rows, low, first + rows - low};
}

// One head of one sequence.
struct Head {
    std::int64_t start = 0;                 // first token
    std::int64_t query = 0, key_value = 0;  // head indices
};

template <class Each>
void for_each_head(const Attention& shape, const Each& each) {
    for (std::int64_t b = 0; b < shape.batch; ++b)
        for (std::int64_t h = 0; h < shape.heads; ++h)
            each(Head{b * shape.sequence, h, h * shape.kv_heads / shape.heads});
}

ConstMatrix rows_of(const float* data, std::int64_t stride, std::int64_t row, std::int64_t rows,
                    std::int64_t head, std::int64_t width) {
    return {data + row * stride + head * width, rows, width, Strided(stride)};
}
Matrix rows_of(float* data, std::int64_t stride, std::int64_t row, std::int64_t rows, std::int64_t head,
               std::int64_t width) {
    return {data + row * stride + head * width, rows, width, Strided(stride)};
}

struct HeadInputs {
    ConstMatrix query, key, value;
};
HeadInputs inputs_of(const Attention& shape, const AttentionInputs& inputs, const Head& head,
                     const Tile& tile) {
    const std::int64_t d = shape.head_dim;
    return {rows_of(inputs.query, inputs.query_key_stride, head.start + tile.first, tile.rows, head.query, d),
            rows_of(inputs.key, inputs.query_key_stride, head.start + tile.low, tile.keys, head.key_value, d),
            rows_of(inputs.value, inputs.value_stride, head.start + tile.low, tile.keys, head.key_value,
                    shape.value_head_dim)};
}

float scale_of(const Attention& shape) { return 1.0F / std::sqrt(static_cast<float>(shape.head_dim)); }

// The keys that the row's query sees, as a range of the tile's columns.
struct Seen {
    std::int64_t begin, end;
};
Seen seen_by(const Attention& shape, const Tile& tile, std::int64_t row) {
    const std::int64_t query = tile.first + row;
    const std::int64_t begin =
        shape.window > 0 ? std::max<std::int64_t>(tile.low, query - shape.window + 1) : tile.low;
    return {begin - tile.low, query + 1 - tile.low};
}

// exp(scores - shift) where a key is seen, zero elsewhere.
template <class Row>
void exponentiate(Row&& scores, Seen seen, float shift) {
    scores.head(seen.begin).setZero();
    scores.tail(scores.size() - seen.end).setZero();
    auto part = scores.segment(seen.begin, seen.end - seen.begin);
    part.array() = (part.array() - shift).exp();
}

}  // namespace

std::int64_t attention_scratch(const Attention& shape) {
    return 2 * std::min(kQueryBlock, shape.sequence) * shape.sequence;
}

void attention_forward(const Attention& shape, const AttentionInputs& inputs, float* output,
                       float* log_sum_exp, float* scratch) {
    const std::int64_t output_stride = shape.heads * shape.value_head_dim;
    const auto run_tile = [&](const Head& head, const Tile& tile) {
        const HeadInputs in = inputs_of(shape, inputs, head, tile);
        Matrix scores = matrix(scratch, tile.rows, tile.keys);
        scores.noalias() = scale_of(shape) * in.query * in.key.transpose();
        Matrix result = rows_of(output, output_stride, head.start + tile.first, tile.rows, head.query,
                                shape.value_head_dim);
        for (std::int64_t row = 0; row < tile.rows; ++row) {
            const Seen seen = seen_by(shape, tile, row);
            const float highest = scores.row(row).segment(seen.begin, seen.end - seen.begin).maxCoeff();
            exponentiate(scores.row(row), seen, highest);
            const float sum = scores.row(row).sum();
            log_sum_exp[(head.start + tile.first + row) * shape.heads + head.query] = highest + std::log(sum);
            scores.row(row) /= sum;
        }
        result.noalias() = scores * in.value;
    };
    for_each_head(shape, [&](const Head& head) {
        for (std::int64_t first = 0; first < shape.sequence; first += kQueryBlock)
            run_tile(head, tile_at(shape, first));
    });
}

void attention_backward(const Attention& shape, const AttentionInputs& inputs, const float* output,
                        const float* log_sum_exp, const float* output_gradient,
                        const AttentionGradients& gradients, float* scratch) {
    const std::int64_t d = shape.head_dim, dv = shape.value_head_dim, output_stride = shape.heads * dv;
    const std::int64_t tokens = shape.batch * shape.sequence;
    Matrix(gradients.key, tokens, shape.kv_heads * d, Strided(gradients.stride)).setZero();
    Matrix(gradients.value, tokens, shape.kv_heads * dv, Strided(gradients.stride)).setZero();
    const auto run_tile = [&](const Head& head, const Tile& tile) {
        const std::int64_t row0 = head.start + tile.first, key0 = head.start + tile.low;
        const HeadInputs in = inputs_of(shape, inputs, head, tile);
        const ConstMatrix out = rows_of(output, output_stride, row0, tile.rows, head.query, dv);
        const ConstMatrix dout = rows_of(output_gradient, output_stride, row0, tile.rows, head.query, dv);
        Matrix probabilities = matrix(scratch, tile.rows, tile.keys);
        Matrix dscores = matrix(scratch + tile.rows * tile.keys, tile.rows, tile.keys);
        probabilities.noalias() = scale_of(shape) * in.query * in.key.transpose();
        dscores.noalias() = dout * in.value.transpose();
        for (std::int64_t row = 0; row < tile.rows; ++row) {
            exponentiate(probabilities.row(row), seen_by(shape, tile, row),
                         log_sum_exp[(row0 + row) * shape.heads + head.query]);
            const float delta = dout.row(row).dot(out.row(row));
            dscores.row(row).array() =
                scale_of(shape) * probabilities.row(row).array() * (dscores.row(row).array() - delta);
        }
        rows_of(gradients.query, gradients.stride, row0, tile.rows, head.query, d).noalias() =
            dscores * in.key;
        rows_of(gradients.key, gradients.stride, key0, tile.keys, head.key_value, d).noalias() +=
            dscores.transpose() * in.query;
        rows_of(gradients.value, gradients.stride, key0, tile.keys, head.key_value, dv).noalias() +=
            probabilities.transpose() * dout;
    };
    for_each_head(shape, [&](const Head& head) {
        for (std::int64_t first = 0; first < shape.sequence; first += kQueryBlock)
            run_tile(head, tile_at(shape, first));
    });
}

}  // namespace wirewise::host
