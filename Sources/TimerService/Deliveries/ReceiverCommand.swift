import Webhooks

/// A receiver's answer in `Timer-Command`.
struct ReceiverCommand {
    /// The header's value as it came.
    var text: [UInt8]
    /// The command that the value was understood as; nil where it is none.
    var header: TimerCommandHeader?

    init(_ text: [UInt8]) {
        self.text = text
        header = TimerCommandHeader(text)
    }
}
