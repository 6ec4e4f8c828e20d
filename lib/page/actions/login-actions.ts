import { type ActionOutcome, callAction } from "./call-action.ts";

const fetchDirectly: typeof fetch = (...call) => fetch(...call);

/** Signs this browser in with the token of a login link. */
export const logIn = (token: string, fetcher = fetchDirectly): Promise<ActionOutcome<unknown>> =>
  callAction(fetcher, "POST", "/login", { token });

/** Ends the login of this browser. */
export const logOut = (fetcher = fetchDirectly): Promise<ActionOutcome<unknown>> =>
  callAction(fetcher, "POST", "/actions/logout");

/** Ends the login of another browser. */
export const endLogin = (id: string, fetcher = fetchDirectly): Promise<ActionOutcome<unknown>> =>
  callAction(fetcher, "DELETE", `/actions/logins/${encodeURIComponent(id)}`);
