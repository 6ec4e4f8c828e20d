/**
 * What sent a request that the network guard refused. `mcp`: the connection to a caller's tool server. `mcp_tool`: a
 * tool of the built-in MCP server. `proxy`: a page or a test run. `service`: any other part of the service.
 */
type NetworkSource = "callback" | "mcp" | "fetch_url" | "mcp_tool" | "navigation" | "proxy" | "service";

/** A request that the network guard refused. `host` may include a port, but never a path or a query. */
export type NetworkRefusal = {
  source: NetworkSource;
  host: string;
  reason: string;
  sessionId?: string | undefined;
};

/**
 * The fields of each event, by the name of the function that records it. An `actor` is `key:<id>`,
 * `operator:<login id>` (`operator` before the login has an id), `share:<link id>` (`share:own` for the session's
 * `shareUrl`) or `retention`. Source: `security-log.md`, Events.
 */
export type SecurityFields = {
  serviceStarted: { sandbox: string; isolation: string; browser: string; networkAllow: string };
  loginSucceeded: { actor: string };
  loginEnded: { actor: string; loginId: string };
  loginFailed: object;
  operatorRefused: { operation: string };
  keyRefused: { keyId?: string | undefined };
  authenticationThrottled: object;
  shareTokenRefused: { sessionId: string };
  userTokenRefused: { sessionId?: string | undefined };
  scopeRefused: { actor: string; operation: string; needed: string; sessionId?: string | undefined };
  keyCreated: { actor: string; keyId: string; ownerId: string; scopes: readonly string[] };
  keyRotated: { actor: string; keyId: string; successorId: string; ownerId: string };
  keyRevoked: { actor: string; keyId: string; ownerId: string };
  keyScopesChanged: { actor: string; keyId: string; ownerId: string; scopes: readonly string[] };
  shareLinkCreated: { actor: string; sessionId: string; linkId: string; role: string };
  shareLinkRevoked: { actor: string; sessionId: string; linkId: string };
  shareLinksRevoked: { actor: string; sessionId: string; links: number };
  callbackSecretRotated: { actor: string; sessionId: string };
  callbackEnabled: { actor: string; sessionId: string; host: string };
  budgetChanged: {
    actor: string;
    sessionId: string;
    usd: number | null;
    tokens: number | null;
    minutes: number | null;
  };
  encryptionRotated: { actor: string; resealed: number };
  networkRefused: NetworkRefusal;
  sessionRemoved: { actor: string; sessionId: string; sessions: number };
  recordsRemoved: { actor: string; records: "evidence" | "pictures" | "deliveries"; count: number };
  erasureVerified: { sessionId: string };
  erasureFailed: { sessionId: string; left: readonly string[] };
};

export type SecurityEventName = keyof SecurityFields;

/** How the log writes one kind of event. */
export type SecurityEventKind = {
  /** The value of the field `event`. */
  event: string;
  outcome: "success" | "failure" | "refused";
  level: "info" | "warn" | "error";
  message: string;
  /**
   * The field by which the flood guard counts events of this kind instead of writing all of them. Set for events that a
   * stranger or a page can cause any number of times.
   */
  countedBy?: "address" | "actor" | "sessionId";
};

/** All kinds of events, each with the name of the function that records it. */
export const SECURITY_EVENTS: Record<SecurityEventName, SecurityEventKind> = {
  serviceStarted: {
    event: "service.started",
    outcome: "success",
    level: "info",
    message: "the service started",
  },
  loginSucceeded: {
    event: "login.succeeded",
    outcome: "success",
    level: "info",
    message: "the operator signed in",
  },
  loginEnded: {
    event: "login.ended",
    outcome: "success",
    level: "info",
    message: "a login was ended",
  },
  loginFailed: {
    event: "login.failed",
    outcome: "failure",
    level: "warn",
    message: "a login was refused",
    countedBy: "address",
  },
  operatorRefused: {
    event: "operator.refused",
    outcome: "failure",
    level: "warn",
    message: "an operation of the operator was called without a valid login",
    countedBy: "address",
  },
  keyRefused: {
    event: "api_key.refused",
    outcome: "failure",
    level: "warn",
    message: "an API key was refused",
    countedBy: "address",
  },
  authenticationThrottled: {
    event: "authentication.throttled",
    outcome: "refused",
    level: "warn",
    message: "an address sent too many wrong credentials",
    countedBy: "address",
  },
  shareTokenRefused: {
    event: "share_token.refused",
    outcome: "failure",
    level: "warn",
    message: "a share token was refused",
    countedBy: "address",
  },
  userTokenRefused: {
    event: "user_token.refused",
    outcome: "failure",
    level: "warn",
    message: "a user token was refused",
    countedBy: "address",
  },
  scopeRefused: {
    event: "scope.refused",
    outcome: "refused",
    level: "warn",
    message: "a valid credential lacked a scope or role",
    countedBy: "actor",
  },
  keyCreated: {
    event: "api_key.created",
    outcome: "success",
    level: "info",
    message: "an API key was created",
  },
  keyRotated: {
    event: "api_key.rotated",
    outcome: "success",
    level: "info",
    message: "an API key was rotated",
  },
  keyRevoked: {
    event: "api_key.revoked",
    outcome: "success",
    level: "info",
    message: "an API key was revoked",
  },
  keyScopesChanged: {
    event: "api_key.scopes_changed",
    outcome: "success",
    level: "info",
    message: "the scopes of an API key were changed",
  },
  shareLinkCreated: {
    event: "share_link.created",
    outcome: "success",
    level: "info",
    message: "a share link was created",
  },
  shareLinkRevoked: {
    event: "share_link.revoked",
    outcome: "success",
    level: "info",
    message: "a share link was revoked",
  },
  shareLinksRevoked: {
    event: "share_link.all_revoked",
    outcome: "success",
    level: "info",
    message: "all share links of a session were revoked",
  },
  callbackSecretRotated: {
    event: "callback_secret.rotated",
    outcome: "success",
    level: "info",
    message: "the callback secret of a session was replaced",
  },
  callbackEnabled: {
    event: "callback.enabled",
    outcome: "success",
    level: "info",
    message: "callbacks to a host were enabled",
  },
  budgetChanged: {
    event: "budget.changed",
    outcome: "success",
    level: "info",
    message: "the budget of a session was changed",
  },
  encryptionRotated: {
    event: "encryption_key.rotated",
    outcome: "success",
    level: "info",
    message: "secrets were sealed with the current encryption key",
  },
  networkRefused: {
    event: "network.refused",
    outcome: "refused",
    level: "warn",
    message: "the network guard refused a request",
    countedBy: "sessionId",
  },
  sessionRemoved: {
    event: "session.removed",
    outcome: "success",
    level: "info",
    message: "a session was removed",
  },
  recordsRemoved: {
    event: "records.removed",
    outcome: "success",
    level: "info",
    message: "records were removed because of their age",
  },
  erasureVerified: {
    event: "erasure.verified",
    outcome: "success",
    level: "info",
    message: "no row and no file of a removed session is left",
  },
  erasureFailed: {
    event: "erasure.failed",
    outcome: "failure",
    level: "error",
    message: "rows or files of a removed session are left",
  },
};
