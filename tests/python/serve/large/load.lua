-- What `wrk` sends and looks at: completions of a few seeds. The answers of one seed must all be the same bytes, but for what
-- names the request. Each thread of wrk keeps its own counts; done() adds them up and prints one line of JSON.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(_)
  asked, different, refused, wrong = 0, 0, 0, 0
  seen = {}
end

function request()
  asked = asked + 1
  local body = '{"prompt": "4+7+9?", "max_tokens": 28, "seed": ' .. (1 + asked % 6) ..
    ', "tempera": {"powers": [1, 2, 4], "block": 4, "rounds": 1}}'
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
end

function response(status, headers, body)
  if status == 429 then
    refused = refused + 1
    if headers["Retry-After"] == nil then wrong = wrong + 1 end
    return
  end
  local seed = body:match('"seed":(%d+)')
  if status ~= 200 or seed == nil then
    wrong = wrong + 1
    return
  end
  local bytes = body:gsub('"id":"[^"]*",', ""):gsub('"created":%d+,', "")
  if seen[seed] == nil then seen[seed] = bytes end
  if seen[seed] ~= bytes then different = different + 1 end
end

function done(summary, _, _)
  local sums = {different = 0, refused = 0, wrong = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  local errors = summary.errors
  io.write(string.format('JSON {"answered": %d, "different": %d, "refused": %d, "wrong": %d, "broken": %d}\n', summary.requests,
    sums.different, sums.refused, sums.wrong, errors.connect + errors.read + errors.write + errors.timeout))
end
