import CLinux

/// SIGINT and SIGTERM of a program that may end at any instant, such as a client.
///
/// The process exits with 128 and the signal's number, as a shell shows the death by a signal. The default action
/// would do so too, but not for the first process of a container, to which the kernel delivers no signal that has
/// no handler.
public enum EndSignals {
    /// Installs the handlers. A signal that is ignored, as by `nohup`, stays ignored, and a thread that blocks and
    /// waits for signals gets them instead.
    public static func take() { clinux_take_end_signals() }

    /// Runs `body`, which writes, to its end before a signal ends the process; a second signal does not wait for it.
    public static func completing<Result>(_ body: () -> Result) -> Result {
        clinux_begin_output()
        let result = body()
        clinux_end_output()
        return result
    }

    /// Whether a signal has come, so that the process ends once `completing` is done.
    public static var areTaken: Bool { clinux_is_ending() != 0 }
}
