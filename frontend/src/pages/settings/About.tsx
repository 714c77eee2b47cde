/** The section About: version, address, folders, log, and the signed-in browsers with "Sign out". */

import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { queries, useOperation } from "../../api/hooks";
import { notify } from "../../app/notices";
import { day } from "../../ui/amounts";
import { LearnMore } from "../../ui/LearnMore";
import { browserName } from "./browsers";

/** What runs here, where its things are, and which pages are let in. */
export function About({ file }: { file: string }) {
  const info = useOperation("host_info", {}).data;
  const pages = useOperation("pages", {}).data ?? [];
  const [wrong, setWrong] = useState("");
  async function revoke(id: string) {
    setWrong("");
    try {
      await run("page_revoke", { id });
      notify("Signed out that browser.");
    } catch (error) {
      setWrong(sentence(error));
    }
    void queries.invalidateQueries({ queryKey: ["pages"] });
  }
  return (
    <section className="settings-section" id="about">
      <h2>About</h2>
      <dl className="facts">
        <dt>Version</dt>
        <dd>{info?.version}</dd>
        <dt>Documentation</dt>
        <dd>
          <LearnMore page="index.html">All pages</LearnMore>
        </dd>
        <dt>Address</dt>
        <dd className="mono">{info?.address}</dd>
        <dt>Settings</dt>
        <dd className="mono">{file}</dd>
        <dt>Home</dt>
        <dd className="mono">{info?.home}</dd>
        <dt>Log</dt>
        <dd className="mono">{info?.log}</dd>
      </dl>
      <h3 className="space-above-16">Signed-in browsers</h3>
      {wrong && (
        <p className="text-small error-text" role="alert">
          {wrong}
        </p>
      )}
      {pages.map((page) => (
        <div key={page.id} className="setting-row">
          <b className="medium">{browserName(page.name)}</b>
          <p>
            signed in {day(page.made_at)}, last used {day(page.used_at)}
          </p>
          <span className="setting-control">
            <button type="button" className="btn bare small" onClick={() => void revoke(page.id)}>
              Sign out
            </button>
          </span>
        </div>
      ))}
    </section>
  );
}
