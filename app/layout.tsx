import type { Metadata, Viewport } from "next";
import localFont from "next/font/local";
import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { readTheme, THEME_COOKIES } from "#components/theme/theme.ts";
import "./globals.css";

const sans = localFont({
  src: "../node_modules/geist/dist/fonts/geist-sans/Geist-Variable.woff2",
  variable: "--font-geist-sans",
  weight: "100 900",
});
const mono = localFont({
  src: "../node_modules/geist/dist/fonts/geist-mono/GeistMono-Variable.woff2",
  variable: "--font-geist-mono",
  weight: "100 900",
  preload: false,
});

export const metadata: Metadata = {
  title: { default: "Agent Session Service", template: "%s · Agent Session Service" },
  description: "Start an AI agent on a web page, watch it work in a live browser, and join in.",
  referrer: "no-referrer",
  robots: { index: false, follow: false },
};

export const viewport: Viewport = {
  width: "device-width",
  initialScale: 1,
  interactiveWidget: "resizes-content",
};

/**
 * Renders the root layout. The server reads the theme from a cookie, so that the first paint has the right theme
 * without a script.
 */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const sent = await cookies();
  const theme = readTheme(THEME_COOKIES.map((name) => sent.get(name)?.value).find(Boolean));
  return (
    <html
      lang="en"
      className={`${sans.variable} ${mono.variable}`}
      data-theme={theme === "system" ? undefined : theme}
      suppressHydrationWarning
    >
      <body className="font-sans">{children}</body>
    </html>
  );
}
