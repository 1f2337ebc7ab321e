/// The result of matching a path.
enum RouteMatch {
    /// A route and, where its path has one, the id, slug or action.
    case route(Route, parameter: ArraySlice<UInt8>)
    /// A path below a timer that names no command.
    case unknownCommand(timer: ArraySlice<UInt8>, word: ArraySlice<UInt8>)
    /// A path below `bulk` that names no action.
    case unknownAction
    /// No route.
    case unknown
}
