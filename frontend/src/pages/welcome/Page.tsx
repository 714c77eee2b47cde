/** The Welcome page: its four steps (see it work, choose a model, import servers, choose a folder), Start and Skip. */

import { useEffect, useState, type KeyboardEvent as Pressed } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { navigate } from "../../app/router";
import { useTopTitle } from "../../app/title";
import { useModelLists } from "../models/useModelLists";
import { Demo } from "./Demo";
import { FolderStep } from "./FolderStep";
import { choices } from "./found";
import { ModelStep } from "./ModelStep";
import "./page.css";
import { DemoStep, ServersStep } from "./Steps";
import { TEXT } from "./text";

const WELCOMED = "toolcrib.welcomed";

/** The first five minutes: see it work, choose a model, bring servers, ask. */
export default function WelcomePage() {
  useTopTitle("Welcome");
  const models = useOperation("models", {});
  const own = (models.data?.vendors ?? []).filter((vendor) => vendor.protocol !== "" && vendor.ready);
  const offered = choices(models.data, useModelLists(own).lists);
  const [picked, setPicked] = useState<string | null>(null);
  const chosen = picked ?? models.data?.model ?? offered[0]?.model ?? "demo";

  async function start() {
    try {
      await run("settings_set", { key: "agent.model", value: chosen });
      localStorage.setItem(WELCOMED, "yes");
      void queries.invalidateQueries();
      navigate("/chat");
    } catch (error) {
      notify(sentence(error));
    }
  }

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter" && event.target === document.body && !event.defaultPrevented) void start();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  /** Enter on a choice starts with it. */
  function enter(event: Pressed) {
    if (event.key !== "Enter" || (event.target as HTMLElement).getAttribute("role") !== "radio") return;
    event.preventDefault();
    void start();
  }

  function skip() {
    localStorage.setItem(WELCOMED, "yes");
    navigate("/chat");
  }

  return (
    <div className="welcome">
      <section aria-labelledby="welcome" onKeyDown={enter}>
        <h1 id="welcome">{TEXT.title}</h1>
        <p className="lead">{TEXT.lead}</p>
        <ol>
          <DemoStep />
          <ModelStep models={models.data} offered={offered} chosen={chosen} onChoose={setPicked} />
          <ServersStep />
          <FolderStep />
        </ol>
        <div className="row welcome-actions">
          <button type="button" className="btn primary large" onClick={() => void start()}>
            Start with {chosen.replace(/^ollama:/, "")} <kbd>↵</kbd>
          </button>
          <button type="button" className="btn bare large" onClick={skip}>
            {TEXT.skip}
          </button>
        </div>
      </section>
      <div className="welcome-aside">
        <Demo />
      </div>
    </div>
  );
}
