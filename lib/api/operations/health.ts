import type { Answer } from "../route.ts";
import type { ApiServices } from "../services.ts";

/** `GET /api/health`: the process answers. */
export async function readHealth(): Promise<Answer> {
  return { ok: true, status: 200, body: { ok: true } };
}

/** `GET /api/ready`: every part that a turn needs answers. */
export async function readReadiness(services: ApiServices): Promise<Answer> {
  const checks = await services.readiness();
  const ok = Object.values(checks).every((check) => check.ok);
  return { ok: true, status: ok ? 200 : 503, body: { ok, checks } };
}
