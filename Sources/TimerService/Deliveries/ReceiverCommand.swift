import Webhooks

/// What a receiver answered in `Timer-Command`.
struct ReceiverCommand {
    /// As it came.
    var text: [UInt8]
    /// As it was understood; nil where it was not.
    var header: TimerCommandHeader?

    init(_ text: [UInt8]) {
        self.text = text
        header = TimerCommandHeader(text)
    }
}
