-- POST /v1/timers: one timer a request, a payload of 256 bytes, due far from now.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"after":"30d","labels":{},"payload":"' .. string.rep("x", 254) .. '"}'
