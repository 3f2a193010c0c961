#include "model/strategy/pytorch/ddp_load.hpp"

#include <deque>

#include "model/strategy/pytorch/traffic.hpp"

namespace wirewise {

namespace {

constexpr Bytes kPiece = Bytes(250) * 1048576;
constexpr std::size_t kInFlight = 2;

struct Piece {
    BufferId flat{};
    std::vector<Operand> members;
    EventId done{};
};

void finish(PytorchContext& context, Piece piece) {
    ProgramBuilder& build = context.build();
    build.wait(context.compute, piece.done);
    const Bytes bytes = build.at(piece.flat).bytes;
    for (Operand& member : piece.members) member.access = Access::write;
    piece.members.push_back(build.read(piece.flat));
    build.compute(context.compute, "copy out of piece",
                  vector_kernel(1, bytes.count(), 2 * bytes, DType::int8), piece.members);
    build.release(piece.flat);
}

Piece start(PytorchContext& context, std::vector<Operand> members, Bytes bytes, StreamId communication) {
    ProgramBuilder& build = context.build();
    const DType type = context.plan().precision.parameter;
    Piece piece{build.transient("broadcast piece", bytes, type, Role::communication, context.compute),
                std::move(members),
                {}};
    std::vector<Operand> operands = piece.members;
    operands.push_back(build.write(piece.flat));
    build.compute(context.compute, "flatten piece", vector_kernel(1, bytes.count(), 2 * bytes, DType::int8),
                  operands);
    build.join(communication, context.compute);
    build.collective(communication, "broadcast parameters",
                     {CollectiveKind::broadcast, Axis::world, type, bytes, false},
                     {build.update(piece.flat)});
    piece.done = build.record(communication);
    return piece;
}

}  // namespace

void broadcast_weights(PytorchContext& context, const WholeWeights& weights, StreamId communication) {
    std::deque<Piece> in_flight;
    std::vector<Operand> members;
    Bytes bytes;
    const auto finish_oldest = [&] {
        finish(context, std::move(in_flight.front()));
        in_flight.pop_front();
    };
    const auto send = [&] {
        while (in_flight.size() >= kInFlight) finish_oldest();
        in_flight.push_back(start(context, std::move(members), bytes, communication));
        members.clear();
        bytes = Bytes(0);
    };
    for (const BufferId buffer : weights.buffers()) {
        members.push_back(context.build().read(buffer));
        bytes += context.build().at(buffer).bytes;
        if (bytes >= kPiece) send();
    }
    if (!members.empty()) send();
    while (!in_flight.empty()) finish_oldest();
}

}  // namespace wirewise
