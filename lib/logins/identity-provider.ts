import type * as OpenidClient from "openid-client";
import type { Account } from "./logins.ts";

/** Settings of the OpenID provider. */
export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Accounts that may sign in. An entry is a verified e-mail address, or a subject in the form `sub:<subject>`. */
  allow: readonly string[];
};

/** Secrets of one sign-in. The browser stores them while the person is on the provider's pages. */
export type SignInSecrets = { state: string; nonce: string; codeVerifier: string };

/** The OpenID provider that people sign in with. */
export type IdentityProvider = {
  /**
   * Begins a sign-in.
   *
   * @returns the URL of the provider's page, and the secrets to pass to {@link IdentityProvider.finish}.
   * @throws when the provider cannot be reached.
   */
  begin: () => Promise<{ url: URL; secrets: SignInSecrets }>;
  /**
   * Finishes a sign-in: exchanges the authorization code for tokens and validates the ID token.
   *
   * @param search query string of the URL to which the provider redirected the browser.
   * @throws for a wrong state, code, nonce or signature, and when the provider cannot be reached.
   */
  finish: (search: string, secrets: SignInSecrets) => Promise<Account>;
};

type Discovered = { oidc: typeof OpenidClient; config: OpenidClient.Configuration };

const TIMEOUT_SECONDS = 10;

/**
 * Whether the settings allow an account to sign in. Accounts of other issuers are never allowed. E-mail addresses are
 * compared case-insensitively, subjects exactly.
 */
export function isAllowedAccount({ issuer, allow }: OidcSettings, account: Account): boolean {
  if (account.issuer !== issuer) return false;
  if (allow.includes(`sub:${account.subject}`)) return true;
  const email = account.email?.toLowerCase();
  return email !== undefined && allow.some((entry) => isEmail(entry) && entry.toLowerCase() === email);
}

const isEmail = (entry: string): boolean => !entry.startsWith("sub:");

/**
 * Creates the client of an OpenID provider. The client uses the authorization code flow with PKCE, state and nonce. It
 * reads the provider's metadata at the first sign-in, so the service can start while the provider is unreachable.
 *
 * @param redirectUri URL of the service to which the provider redirects the browser after the sign-in.
 */
export function createIdentityProvider(settings: OidcSettings, redirectUri: string): IdentityProvider {
  const { issuer, clientId, clientSecret } = settings;
  let discovered: Promise<Discovered> | undefined;

  function discover(): Promise<Discovered> {
    discovered ??= readMetadata().catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  }
  async function readMetadata(): Promise<Discovered> {
    // The package is loaded at the first sign-in, because most deployments have no identity provider.
    const oidc = await import("openid-client");
    const config = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      // Plain http is safe here: the settings accept it only for a provider on this machine.
      execute: issuer.startsWith("http:")
        ? [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks]
        : [oidc.enableNonRepudiationChecks],
    });
    return { oidc, config };
  }

  return {
    async begin() {
      const { oidc, config } = await discover();
      const secrets: SignInSecrets = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email",
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: "S256",
      });
      return { url, secrets };
    },
    async finish(search, { state, nonce, codeVerifier }) {
      const { oidc, config } = await discover();
      const returned = new URL(redirectUri);
      returned.search = search;
      const tokens = await oidc.authorizationCodeGrant(config, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error("the provider sent no ID token");
      // Some providers return the e-mail address only from their user info endpoint, not in the ID token.
      const holder =
        claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
          ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)
          : claims;
      const { email, email_verified: isVerified } = holder;
      const hasEmail = typeof email === "string" && isVerified === true;
      // `issuer` comes from the settings. Discovery and the check of the ID token have verified that the provider has
      // the same issuer.
      return { issuer, subject: claims.sub, email: hasEmail ? email : null };
    },
  };
}
