import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { IdentityProvider, OidcSettings } from "#lib/logins/identity-provider.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import type { ShareLinks } from "#lib/session/share/share-link.ts";
import type { Authenticator } from "./authenticate.ts";
import type { FailedAttempts } from "./failed-attempts.ts";
import type { LoginGate } from "./login-gate.ts";

/** The identity provider for sign-ins, and its settings. */
export type OidcLogin = { provider: IdentityProvider; settings: OidcSettings };

/** The services that decide who a caller is and what the caller may access. */
export type AuthServices = {
  db: Database;
  sealer: Sealer;
  shares: ShareLinks;
  login: LoginGate;
  /** Sign-in with an identity provider. Undefined if the settings name no provider. */
  oidc: OidcLogin | undefined;
  authenticate: Authenticator;
  failedAttempts: FailedAttempts;
  logger: Logger;
  securityLog: SecurityLog;
  settings: {
    /** Public origin of the service, without a trailing slash. */
    baseUrl: string;
  };
};
