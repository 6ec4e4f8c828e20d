import type { NextConfig } from "next";
import { PHASE_PRODUCTION_BUILD } from "next/constants.js";

/**
 * How Next builds the pages. The server part of the service runs outside Next's module graph, so what it uses is never
 * bundled: these packages are named for the files that a route might still reach through `lib`.
 */
const nextConfig: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  typedRoutes: false,
  devIndicators: false,
  // `npm run check` and CI type-check the whole tree; doing it again here would only make the first start slower.
  typescript: { ignoreBuildErrors: true },
  serverExternalPackages: [
    "@neondatabase/serverless",
    "drizzle-orm",
    "inngest",
    "pg",
    "pino",
    "playwright",
    "undici",
    "ws",
  ],
};

/** A build on Vercel names the files that its functions need, which takes some seconds; nobody else needs that. */
export default async function configure(phase: string): Promise<NextConfig> {
  if (phase !== PHASE_PRODUCTION_BUILD || !process.env.VERCEL) return nextConfig;
  const { traceFunctionFiles } = await import("#lib/setup/trace-function-files.mjs");
  const files = await traceFunctionFiles(process.cwd());
  return { ...nextConfig, outputFileTracingIncludes: { "/**": files.map((path) => `./${path}`) } };
}
