import TimerLog

/// The observation of other nodes: beats that stop, and calendars.
extension Membership {
    /// Counts for how long each node's beat has stayed the same, and ends sessions that are silent too long. The
    /// time since the last successful read counts `timing.widestGap` at most.
    mutating func observe(_ view: ClusterView, at now: ClusterInstant) {
        let gap = lastView.map { min(now.boottime - $0, timing.widestGap) } ?? 0
        lastView = now.boottime
        gone.formIntersection(view.nodes.map(\.session))
        clusterState.nodes = view.nodes.filter { !gone.contains($0.session) }
        var seen: [Int64: Observation] = [:]
        for node in clusterState.nodes where node.session != session {
            // The gap counts only for a beat that was seen at its beginning.
            var one = Observation(beat: node.beat)
            if let before = observations[node.session], before.beat == node.beat {
                one.unchanged = before.unchanged + gap
            }
            seen[node.session] = one
        }
        observations = seen
        observeReading(view, at: now)
        for node in clusterState.nodes where (seen[node.session]?.unchanged ?? 0) >= timing.silence {
            if ending.insert(node.session).inserted { call(.end(node), at: now) }
        }
    }

    /// Notes since when each standby lacks records. What a view shows at the end of the log, a standby has read by a later
    /// one, unless it lags.
    private mutating func observeReading(_ view: ClusterView, at now: ClusterInstant) {
        var (missing, behind) = (missing, clusterState.behind)
        for node in clusterState.nodes {
            guard let followed = node.followed, followed < view.end, node.session != view.owner.session else {
                (missing[node.session], behind[node.session]) = (nil, nil)
                continue
            }
            // A standby that goes on reading lacks only what came since.
            guard followed >= missing[node.session] ?? 0 else { continue }
            (missing[node.session], behind[node.session]) = (view.end, now.boottime)
        }
        let sessions = Set(clusterState.nodes.map(\.session))
        self.missing = missing.filter { sessions.contains($0.key) }
        clusterState.behind = behind.filter { sessions.contains($0.key) }
    }

    mutating func endAnswered(_ node: ClusterNode, _ answer: DirectoryAnswer, at now: ClusterInstant) {
        ending.remove(node.session)
        guard case .ended(let isEnded) = answer else { return }
        observations[node.session] = nil
        guard isEnded else { return }
        gone.insert(node.session)
        clusterState.nodes.removeAll { $0.session == node.session }
        steps.append(.report(.ended(node)))
        reconcile(at: now)
    }

    /// Compares the calendar with the directory's, and its skew with those of the other nodes.
    mutating func measureSkew(_ view: ClusterView, sentAt sent: ClusterInstant, at now: ClusterInstant) {
        guard now.boottime - sent.boottime <= timing.widestMeasurement else { return }
        let skew = now.realtime - (now.boottime - sent.boottime) / 2 - view.realtime
        clusterState.skew = skew
        let others = clusterState.nodes.filter { $0.session != session && !$0.isLeaving }.compactMap(\.skew)
        let median = Self.median([skew] + others)
        let distance = others.isEmpty ? abs(skew) : abs(skew - median)
        let isOthersRight = others.contains { abs($0 - median) <= timing.skew }
        if distance > timing.skew {
            let leaves = isOthersRight
            if !isSkewReported || leaves && !isSkewed { steps.append(.report(.skewed(skew, leaves: leaves))) }
            isSkewReported = true
            isSkewed = leaves
        } else if distance <= timing.skewGone {
            let isAlike = abs(skew) > timing.skew
            if isAlike && !isSkewReported { steps.append(.report(.skewed(skew, leaves: false))) }
            if !isAlike && isSkewReported { steps.append(.report(.skewGone)) }
            isSkewReported = isAlike
            isSkewed = false
        }
    }

    /// Returns the median of offsets to the directory's calendar; where their number is even, the directory counts
    /// too, as 0.
    private static func median(_ offsets: [Int64]) -> Int64 {
        let sorted = (offsets.count % 2 == 0 ? offsets + [0] : offsets).sorted()
        return sorted[sorted.count / 2]
    }
}
