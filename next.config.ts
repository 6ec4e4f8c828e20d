import type { NextConfig } from "next";

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
    "@electric-sql/pglite",
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

export default nextConfig;
