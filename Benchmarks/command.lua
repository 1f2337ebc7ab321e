-- POST /v1/timers/dog-N/<command>: the commands of the arguments in turn, each timer getting them in their order.
local commands
local count = 0

function init(arguments)
   commands = arguments
end

function request()
   local id = math.floor(count / #commands) * 7919 % 10000
   local command = commands[count % #commands + 1]
   count = count + 1
   if command == "get" then return wrk.format("GET", "/v1/timers/dog-" .. id) end
   return wrk.format("POST", "/v1/timers/dog-" .. id .. "/" .. command)
end
