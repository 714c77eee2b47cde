import { useEffect } from "react";

import { useOperation } from "../api/hooks";
import { navigate } from "./router";

/** The address without a page: the welcome for who is new here, the chat for everybody else. */
export function Threshold() {
  const { data, error } = useOperation("host_info", {});
  useEffect(() => {
    if (!data && !error) return;
    const isNew = data && data.model === null && data.counts.chats === 0 && !localStorage.getItem("toolcrib.welcomed");
    navigate(isNew ? "/welcome" : "/chat", { replace: true });
  }, [data, error]);
  return null;
}
