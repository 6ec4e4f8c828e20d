import type { NextConfig } from "next";
import { PHASE_PRODUCTION_BUILD } from "next/constants.js";

/**
 * Configures how Next builds the pages. The server part of the service runs outside of Next's module graph, so Next
 * does not bundle it. If a route imports a file of `lib` that uses one of the packages in `serverExternalPackages`,
 * Next does not bundle that package either.
 */
const nextConfig: NextConfig = {
  reactStrictMode: true,
  poweredByHeader: false,
  typedRoutes: false,
  devIndicators: false,
  // Next would also remove the slash at the end of the address of a landing page. `redirects` removes that of all others.
  skipTrailingSlashRedirect: true,
  redirects: async () => [
    { source: "/:path((?!p/)[^/\\\\]+(?:/[^/]+)*)/", destination: "/:path", permanent: true },
  ],
  // No page uses the image optimizer. Anybody could have it render pages, and fill the disk with its results.
  images: { unoptimized: true },
  // `npm run check` and CI type-check the whole project. A second check here would only make the first start slower.
  typescript: { ignoreBuildErrors: true },
  // Rendering the reference takes several hundred milliseconds. The service's own process renders it once
  // (`lib/server/reference/reference-page.ts`); on other platforms, the CDN keeps it.
  headers: async () => [
    { source: "/docs", headers: [{ key: "CDN-Cache-Control", value: "public, max-age=3600" }] },
  ],
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

/**
 * On Vercel, adds the list of files that the functions need. Other builds need no list, and making it takes some
 * seconds.
 */
export default async function configure(phase: string): Promise<NextConfig> {
  if (phase !== PHASE_PRODUCTION_BUILD || !process.env.VERCEL) return nextConfig;
  const { traceFunctionFiles } = await import("#lib/setup/trace-function-files.mjs");
  const files = await traceFunctionFiles(process.cwd());
  return { ...nextConfig, outputFileTracingIncludes: { "/**": files.map((path) => `./${path}`) } };
}
