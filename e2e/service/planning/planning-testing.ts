import assert from "node:assert/strict";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { Plan, Requirement } from "#lib/events/event.ts";
import type { TestService } from "../testing.ts";

type Session = { sessionId: string; shareUrl: string };

export const readPlan = async (service: TestService, sessionId: string): Promise<Plan> =>
  (await service.read<{ plan: Plan }>(`/api/sessions/${sessionId}/plan`)).plan;

export const listRequirements = async (service: TestService, sessionId: string): Promise<Requirement[]> =>
  (await service.read<{ data: Requirement[] }>(`/api/sessions/${sessionId}/requirements`)).data;

export const setMode = async (service: TestService, sessionId: string, mode: "off" | "plan_first") => {
  const answer = await service.call("POST", `/api/sessions/${sessionId}/plan/mode`, { mode });
  assert.equal(answer.status, 200, await answer.clone().text());
};

/** Calls the service in the way the session page does for the holder of `shareUrl`. */
export const asVisitor = (
  service: TestService,
  { shareUrl }: Session,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> =>
  service.call(method, path, body, {
    authorization: "",
    cookie: `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`,
    origin: service.env.baseUrl,
  });

/** Edits the plan as a person on the session page. */
export const editAsPerson = (service: TestService, session: Session, ...edits: unknown[]) =>
  asVisitor(service, session, "POST", `/api/sessions/${session.sessionId}/plan/edits`, { edits });

/** Agrees to the plan (the action "go") as a person on the session page. */
export const sayGo = (service: TestService, session: Session, revision: number, text?: string) =>
  asVisitor(service, session, "POST", `/s/${session.sessionId}/actions/plan/go`, {
    revision,
    ...(text !== undefined && { text }),
  });

/** Creates a step of the scripted model that writes a plan. */
export const plan = (items: unknown[], more: Record<string, unknown> = {}): Step => ({
  toolCalls: [{ name: "update_plan", arguments: { items, ...more } }],
});

export const todo = (text: string, more: Record<string, unknown> = {}) => ({ text, status: "todo", ...more });
