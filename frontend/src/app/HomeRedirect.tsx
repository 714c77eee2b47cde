/** Which page opens at the bare address: Welcome for new users, else Chat. */

import { useEffect } from "react";

import { useOperation } from "../api/hooks";
import { navigate } from "./router";

/** The page that the bare address probably leads to. */
export function homePath(): string {
  return localStorage.getItem("toolcrib.welcomed") ? "/chat" : "/welcome";
}

/** Redirects the bare address: new users to the welcome page, others to the chat. */
export function HomeRedirect() {
  const { data, error } = useOperation("host_info", {});
  useEffect(() => {
    if (!data && !error) return;
    const isNew = data && data.model === null && data.counts.chats === 0;
    navigate(isNew ? homePath() : "/chat", { replace: true });
  }, [data, error]);
  return null;
}
