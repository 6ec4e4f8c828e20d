import { setTimeout as sleep } from "node:timers/promises";
import type { RunningService } from "#e2e/fixtures/service.ts";
import type { Acknowledged, StatusSample } from "./evidence.ts";

const SAMPLE_EVERY_MS = 40;

/**
 * Reads the agent status of the sessions of the last three acknowledged messages, every 40 ms, until `stop` is called.
 */
export function sampleStatus(service: () => RunningService | undefined, acknowledged: Acknowledged[]) {
  const samples: StatusSample[] = [];
  let isSampling = true;
  const sampling = sample();

  async function sample(): Promise<void> {
    while (isSampling) {
      await sleep(SAMPLE_EVERY_MS);
      for (const sessionId of new Set(acknowledged.slice(-3).map((one) => one.sessionId))) {
        const fromMs = Date.now();
        const answer = await service()
          ?.call("GET", `/api/sessions/${sessionId}/agent/status`)
          .catch(() => undefined);
        const status = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
        if (status) samples.push({ sessionId, fromMs, toMs: Date.now(), turnState: status.turnState });
      }
    }
  }

  return {
    samples,
    async stop() {
      isSampling = false;
      await sampling;
    },
  };
}
