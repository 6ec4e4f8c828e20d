import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import type { Failure } from "../errors.ts";
import { ERROR_STATUS } from "../errors.ts";

/** A refusal as MCP clients read it: a JSON-RPC error without an id, under an HTTP status. */
export function refuseMcp(failure: Failure): Response {
  const code = failure.code === "invalid_request" ? ErrorCode.InvalidRequest : ErrorCode.ConnectionClosed;
  return Response.json(
    { jsonrpc: "2.0", error: { code, message: failure.error, data: { code: failure.code } }, id: null },
    {
      status: ERROR_STATUS[failure.code],
      headers: { "Cache-Control": "no-store", ...failure.headers },
    },
  );
}
