import { listSessions } from "#lib/session/list-store.ts";
import { summarise } from "../operations/lists.ts";
import { LOCAL_OWNER } from "../route.ts";
import type { ApiServices } from "../services.ts";
import type { LandingPage } from "./page-loaders.ts";

const RECENT = 20;

/** What the landing page shows to the holder of this cookie. */
export async function loadLandingPage(
  services: ApiServices,
  cookieHeader: string | null,
): Promise<LandingPage> {
  const { baseUrl, model } = services.settings;
  const signedIn = services.login.isSignedIn(cookieHeader);
  const rows = signedIn ? await listSessions(services.db, LOCAL_OWNER, { limit: RECENT }) : [];
  const recent = await summarise(services, rows, "drive");
  return { signedIn, recent, model, demoUrl: `${baseUrl}/demo`, baseUrl };
}
