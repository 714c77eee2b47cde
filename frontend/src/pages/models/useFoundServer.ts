/** Connecting a model server that was found on this computer, by one click: it is tested with its first model, and then
 * stored as an address. */

import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { LocalServer } from "../../api/types";
import { refreshModels } from "./refreshModels";

export function useFoundServer(server: LocalServer, onModel?: (model: string) => void) {
  const [asking, setAsking] = useState(false);
  const [wrong, setWrong] = useState("");
  async function use() {
    setAsking(true);
    setWrong("");
    try {
      const done = await run("model_connect", { vendor: server.name, url: server.address });
      onModel?.(done.model);
      await refreshModels();
    } catch (error) {
      setWrong(sentence(error));
    }
    setAsking(false);
  }
  return { asking, wrong, use };
}
