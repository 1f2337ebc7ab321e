import Webhooks

/// A receiver's answer in `Timer-Command`.
struct ReceiverCommand {
    /// As it came.
    var text: [UInt8]
    /// As it was understood; nil where it is no command.
    var header: TimerCommandHeader?

    init(_ text: [UInt8]) {
        self.text = text
        header = TimerCommandHeader(text)
    }
}
