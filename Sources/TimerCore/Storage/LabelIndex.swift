/// The timers that carry each label: a posting list for each `key=value`, in the same keyed-hash order as the whole
/// table, so that a label's page of a list costs what it holds.
struct LabelIndex {
    private enum Members {
        case one(hash: UInt32, slot: UInt32)
        case many(HashOrderedIndex)
    }

    private struct Posting {
        var label: [UInt8]
        var members: Members
    }

    private var byLabel = HashOrderedIndex()
    private var postings: [Posting?] = []
    private var free: [UInt32] = []

    private func find(_ label: [UInt8], _ labelHash: UInt32) -> UInt32? {
        byLabel.find(hash: labelHash) { postings[Int($0)]?.label == label }
    }

    /// Adds a timer (its `slot` and id `hash`) under `label`, given in its encoded form.
    mutating func insert(_ label: [UInt8], labelHash: UInt32, hash: UInt32, slot: UInt32) {
        guard let index = find(label, labelHash) else {
            let posting = Posting(label: label, members: .one(hash: hash, slot: slot))
            if let reused = free.popLast() {
                postings[Int(reused)] = posting
                byLabel.insert(hash: labelHash, value: reused)
            } else {
                postings.append(posting)
                byLabel.insert(hash: labelHash, value: UInt32(postings.count - 1))
            }
            return
        }
        switch postings[Int(index)]?.members {
        case .one(let otherHash, let otherSlot):
            var members = HashOrderedIndex()
            members.insert(hash: otherHash, value: otherSlot)
            members.insert(hash: hash, value: slot)
            postings[Int(index)]?.members = .many(members)
        case .many(var members):
            // The list is taken out while it changes, so that it is changed in place.
            postings[Int(index)]?.members = .one(hash: 0, slot: 0)
            members.insert(hash: hash, value: slot)
            postings[Int(index)]?.members = .many(members)
        case nil:
            return
        }
    }

    /// Removes a timer from `label`.
    mutating func remove(_ label: [UInt8], labelHash: UInt32, hash: UInt32, slot: UInt32) {
        guard let index = find(label, labelHash) else { return }
        switch postings[Int(index)]?.members {
        case .many(var members):
            postings[Int(index)]?.members = .one(hash: 0, slot: 0)
            members.remove(hash: hash, value: slot)
            postings[Int(index)]?.members = .many(members)
            if members.count > 0 { return }
        case .one, nil:
            break
        }
        postings[Int(index)] = nil
        free.append(index)
        byLabel.remove(hash: labelHash, value: index)
    }

    /// Returns how many timers carry `label`.
    func count(_ label: [UInt8], labelHash: UInt32) -> Int {
        guard let index = find(label, labelHash), let posting = postings[Int(index)] else { return 0 }
        switch posting.members {
        case .one: return 1
        case .many(let members): return members.count
        }
    }

    /// Hands the timers under `label` from id hash `hash` on to `body`, in hash order, until it returns false.
    func walk(_ label: [UInt8], labelHash: UInt32, from hash: UInt32, _ body: (UInt32, UInt32) -> Bool) {
        guard let index = find(label, labelHash), let posting = postings[Int(index)] else { return }
        switch posting.members {
        case .one(let memberHash, let slot):
            if memberHash >= hash { _ = body(memberHash, slot) }
        case .many(let members):
            members.walk(from: hash, body)
        }
    }
}
