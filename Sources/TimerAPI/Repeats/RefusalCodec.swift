import TimerCore

/// The encoding of a refusal in a part of a stored answer: its number, then its values.
enum RefusalCodec {
    static func append(_ refusal: TimerRefusal, to bytes: inout [UInt8]) {
        switch refusal {
        case .notFound: bytes.append(0)
        case .exists: bytes.append(1)
        case .illegalTransition(let command, let state, let restartable, let isWatchdog):
            bytes += [2, command.rawValue, state.rawValue, restartable ? 1 : 0, isWatchdog ? 1 : 0]
        case .illegalChange(let state, let restartable, let isWatchdog):
            bytes += [3, state.rawValue, restartable ? 1 : 0, isWatchdog ? 1 : 0]
        case .notAWatchdog(let state, let restartable):
            bytes += [4, state.rawValue, restartable ? 1 : 0]
        case .versionMismatch(let current):
            bytes.append(5)
            // 0 means that there is no timer, as no timer has a version below 1.
            ByteCoding.append(signed: current ?? 0, to: &bytes)
        case .invalidSchedule(let pointer, let reason):
            bytes.append(6)
            for text in [pointer, reason] { ByteCoding.append(run: text.utf8, to: &bytes) }
        case .timerLimit(let limit):
            bytes.append(7)
            ByteCoding.append(UInt64(limit), to: &bytes)
        }
    }

    /// Reads what `append` wrote and moves `offset` past it; nil for anything else.
    static func read(_ bytes: Span<UInt8>, _ offset: inout Int) -> TimerRefusal? {
        guard let number = byte(bytes, &offset) else { return nil }
        switch number {
        case 0: return .notFound
        case 1: return .exists
        case 2:
            guard let command = byte(bytes, &offset).flatMap(TimerCommand.init), let state = state(bytes, &offset),
                let restartable = flag(bytes, &offset), let isWatchdog = flag(bytes, &offset)
            else { return nil }
            return .illegalTransition(command, state: state, restartable: restartable, isWatchdog: isWatchdog)
        case 3:
            guard let state = state(bytes, &offset), let restartable = flag(bytes, &offset),
                let isWatchdog = flag(bytes, &offset)
            else { return nil }
            return .illegalChange(state: state, restartable: restartable, isWatchdog: isWatchdog)
        case 4:
            guard let state = state(bytes, &offset), let restartable = flag(bytes, &offset) else { return nil }
            return .notAWatchdog(state: state, restartable: restartable)
        case 5:
            guard let current = ByteCoding.readSigned(bytes, &offset) else { return nil }
            return .versionMismatch(current: current == 0 ? nil : current)
        case 6:
            guard let pointer = text(bytes, &offset), let reason = text(bytes, &offset) else { return nil }
            return .invalidSchedule(pointer: pointer, reason: reason)
        case 7:
            return ByteCoding.read(bytes, &offset).map { .timerLimit(Int(truncatingIfNeeded: $0)) }
        default: return nil
        }
    }

    private static func byte(_ bytes: Span<UInt8>, _ offset: inout Int) -> UInt8? {
        ByteCoding.readFixed(bytes, &offset, count: 1).map { UInt8($0) }
    }

    private static func flag(_ bytes: Span<UInt8>, _ offset: inout Int) -> Bool? {
        byte(bytes, &offset).map { $0 == 1 }
    }

    private static func state(_ bytes: Span<UInt8>, _ offset: inout Int) -> TimerState? {
        byte(bytes, &offset).flatMap(TimerState.init)
    }

    private static func text(_ bytes: Span<UInt8>, _ offset: inout Int) -> String? {
        ByteCoding.readRun(bytes, &offset).map { String(decoding: $0, as: UTF8.self) }
    }
}
