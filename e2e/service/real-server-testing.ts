import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { InngestStandIn } from "#inngest/testing/start-inngest-stand-in.ts";
import { createRequestListener } from "#lib/server/request-listener.ts";
import { openTestService, type TestService } from "./testing.ts";

/** A service whose functions an Inngest server calls over HTTP. */
export type ServedService = TestService;

/**
 * Starts a service that uses Inngest as its engine, because the variables of Inngest are set. The service serves its
 * functions at `/api/inngest` on a real port, where the stand-in for the Inngest server calls them.
 */
export async function openServedService(
  standIn: InngestStandIn,
  variables: Record<string, string> = {},
  dataDir?: string,
): Promise<ServedService> {
  let listener: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  // The SDK reads its variables from `process.env`, not from the variables that `openTestService` receives.
  Object.assign(process.env, standIn.variables);
  const service = await openTestService({ PORT: String(port), ...standIn.variables, ...variables }, dataDir);
  listener = createRequestListener({
    container: service.container,
    env: service.env,
    handle: async (_request, response) => void response.writeHead(404).end(),
    isDev: false,
    logger: { error: () => {} },
  }).handleRequest;
  return {
    ...service,
    async close(options) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await service.close(options);
    },
  };
}
