// A rank's side of the store: messages by key, signs of life both ways, and the word that the run has ended.
#pragma once

#include <functional>
#include <memory>

#include "executor/ranks/ending.hpp"
#include "executor/ranks/place.hpp"
#include "executor/ranks/settings.hpp"
#include "executor/training/rendezvous.hpp"

namespace wirewise {

class TcpRendezvous final : public Rendezvous {
  public:
    // Joins; rank 0 keeps the store where the launcher does not. Throws RunError when the store cannot be
    // reached in time or turns this rank away.
    TcpRendezvous(const RankPlace& place, const RunSettings& settings);
    ~TcpRendezvous() override;

    int rank() const override;
    int world() const override;
    int local_rank() const override;

    void set(const std::string& key, std::span<const std::byte> value) override;
    std::vector<std::byte> get(const std::string& key) override;
    void check() const override;

    // Where this rank is, for people; told with every sign of life. Called on a thread of the rendezvous, and
    // never again once it has been replaced.
    void tell_place(std::function<std::string()> where);
    // Called on a thread of the rendezvous when the run has ended and this rank has not noticed for a while:
    // it is stuck in a call that cannot be interrupted.
    void when_stuck(std::function<void(const Ending&)> act);

    // Ends the run: this rank has failed.
    void fail(int exit_code, const std::string& why);
    // Waits until no rank has anything to do. Throws RunEnded when one of them failed instead.
    void leave();

    // Becomes readable when the run has ended: for those who wait on sockets.
    int ended_descriptor() const;
    // A connection to that rank broke: waits for the store's word, and throws.
    [[noreturn]] void lost(int peer) const;
    // How others can reach this process: the address on which it talks to the store.
    std::string own_address() const;
    const RankPlace& place() const;
    const RunSettings& settings() const;

  private:
    class Member;
    std::unique_ptr<Member> member_;
};

}  // namespace wirewise
