/** Which page opens at the bare address: Welcome for new users, else Chat. */

import { useEffect } from "react";

import { useOperation } from "../api/hooks";
import { navigate } from "./router";

/** Redirects the bare address: new users to the welcome page, others to the chat. */
export function HomeRedirect() {
  const { data, error } = useOperation("host_info", {});
  useEffect(() => {
    if (!data && !error) return;
    const isNew = data && data.model === null && data.counts.chats === 0 && !localStorage.getItem("toolcrib.welcomed");
    navigate(isNew ? "/welcome" : "/chat", { replace: true });
  }, [data, error]);
  return null;
}
