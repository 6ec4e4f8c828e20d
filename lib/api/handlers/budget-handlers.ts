import { findAgent } from "#lib/agents/agent-store.ts";
import { type Budget, MINUTE_MS, type Spend } from "#lib/session/budget/budget.ts";
import { readTreeBudget } from "#lib/session/budget/budget-store.ts";
import { changeBudget as storeBudget } from "#lib/session/budget/change-budget.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { actorOf } from "../auth/actor-of.ts";
import { unknownSession } from "../auth/known-session.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

type ModelSettings = Pick<ApiServices["settings"], "model">;
type BudgetServices = Pick<ApiServices, "db" | "spending"> & { settings: ModelSettings };

/**
 * Returns the refusal of a limit in US dollars if the price of the model is unknown, otherwise undefined. Call it only
 * for a budget with such a limit.
 */
export const refuseUnpriced = ({ model }: ModelSettings, field: string): Failure | undefined =>
  model.isPriced
    ? undefined
    : fail(
        "invalid_request",
        `${field}: the price of ${model.id} is not known; the operator sets it with MODEL_PRICES`,
      );

/**
 * `GET …/budget`: returns the budget. A sub-agent shares the budget of its root session. Source: `wire.md`, Budgets.
 */
async function readBudget(services: ApiServices, { session }: CallOf<"readBudget">): Promise<Answer> {
  const tree = await readTreeBudget(services.db, await findRootId(services, session));
  return tree ? answer(services, tree) : unknownSession();
}

/** `PATCH …/budget`: changes limits, and continues turns that wait for a budget. Source: `wire.md`, Budgets. */
async function changeBudget(
  services: ApiServices,
  { session, body, caller }: CallOf<"changeBudget">,
): Promise<Answer> {
  const refusal = typeof body.usd === "number" ? refuseUnpriced(services.settings, "usd") : undefined;
  if (refusal) return refusal;
  const { budgetChanged, findOwnerExhausted } = services.spending;
  const { isPriced } = services.settings.model;
  const deps = { ...services, budgetChanged, findOwnerExhausted, isPriced };
  const changed = await storeBudget(deps, session, body);
  const tree = changed && (await readTreeBudget(services.db, session.id));
  if (!tree) return unknownSession();
  const { usd = null, tokens = null, minutes = null } = tree.budget ?? {};
  services.securityLog.budgetChanged({
    actor: actorOf(caller),
    sessionId: session.id,
    usd,
    tokens,
    minutes,
  });
  return answer(services, tree);
}

const answer = (
  services: BudgetServices,
  { budget, spent }: { budget: Budget | null; spent: Spend },
): Answer => ({
  ok: true,
  status: 200,
  body: { success: true, budget: describeBudget(services, budget, spent) },
});

/**
 * Reads the budget of a session for its status. Null if the session has no budget. For a root session that may not have
 * sub-agents, the function sends no database statement.
 */
export async function readBudgetState(services: BudgetServices, session: SessionRow) {
  const { budget, spentTokens: tokens, spentUsd: usd, spentMs: ms } = session;
  if (budget === null) return null;
  if (session.parentSessionId === null && !session.subAgents)
    return describeBudget(services, budget, { tokens, usd, ms });
  const tree = await services.spending.readTree(await findRootId(services, session));
  return tree ? describeBudget(services, tree.budget, tree.spent) : null;
}

function describeBudget({ settings }: BudgetServices, budget: Budget | null, { tokens, usd, ms }: Spend) {
  const spent = {
    usd: settings.model.isPriced ? round(usd, 6) : null,
    tokens,
    minutes: round(ms / MINUTE_MS, 2),
  };
  return {
    usd: budget?.usd ?? null,
    tokens: budget?.tokens ?? null,
    minutes: budget?.minutes ?? null,
    spent,
  };
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

const findRootId = async ({ db }: BudgetServices, { id, parentSessionId }: SessionRow): Promise<string> =>
  parentSessionId === null ? id : ((await findAgent(db, id))?.rootSessionId ?? id);

export const budgetHandlers = {
  readBudget,
  changeBudget,
} satisfies Partial<Handlers>;
