-- POST /v1/timers: one timer a request, a payload of 256 bytes, due far from now. With an argument each connection
-- pauses for so many milliseconds after an answer.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"after":"30d","labels":{},"payload":"' .. string.rep("x", 254) .. '"}'

function init(arguments)
   local pause = tonumber(arguments[1])
   if pause then delay = function() return pause end end
end
