"use client";

import { useCallback, useEffect, useState } from "react";

const KEY = "agent-session-notifications";
const BODY_CHARACTERS_MAX = 200;

/** `unsupported`: the browser has none, or the page has no TLS. `refused`: the person has refused them in the browser. */
type NotificationState = "unsupported" | "off" | "on" | "refused";

export type NotificationSwitch = {
  notifications: NotificationState;
  /** Switches notifications on or off. Only a click may call it, because it asks the browser for the permission. */
  toggle: () => Promise<void>;
};

/** Whether this browser shows notifications of the service, for all of its pages, and what switches that. */
export function useNotificationSwitch(): NotificationSwitch {
  const [notifications, setNotifications] = useState<NotificationState>("unsupported");
  useEffect(() => setNotifications(readState()), []);
  const toggle = useCallback(async () => {
    const isOn = readState() === "on";
    if (!isOn && Notification.permission === "default") await Notification.requestPermission();
    localStorage.setItem(KEY, isOn ? "off" : "on");
    setNotifications(readState());
  }, []);
  return { notifications, toggle };
}

/** Shows a notification, which replaces an earlier one with the same tag. A click on it shows the tab. */
export function notify({ title, body, tag }: { title: string; body: string; tag: string }): void {
  try {
    const shown = new Notification(title, { body: body.slice(0, BODY_CHARACTERS_MAX), tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
    };
  } catch {
    // Chrome on Android lets only service workers show notifications. The title of the tab shows the state as well.
  }
}

function readState(): NotificationState {
  if (typeof Notification === "undefined" || !window.isSecureContext) return "unsupported";
  if (Notification.permission === "denied") return "refused";
  try {
    return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
  } catch {
    return "unsupported";
  }
}
