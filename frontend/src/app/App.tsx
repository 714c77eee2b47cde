/** The shell around every page: navigation, page, status line, search dialog and list of keys; bars at top and bottom
 * in a narrow window. */

import { useState } from "react";

import { useConnection } from "../api/hooks";
import { Sprite } from "../ui/Sprite";
import { Announcer } from "./Announcer";
import { HostGone, SignedOut } from "./HostGone";
import { KeyList } from "./KeyList";
import { PageTitle } from "./PageTitle";
import { PageView } from "./PageView";
import { Palette } from "./Palette";
import { Rail } from "./Rail";
import { StatusLine } from "./StatusLine";
import { BottomTabs, TopBar } from "./NarrowBars";
import { useShellKeys } from "./shellKeys";

/** The shell around every page: rail, page, status line; top bar and tabs in a narrow window. */
export function App() {
  const [overlay, setOverlay] = useState<"palette" | "keys" | null>(null);
  const connection = useConnection();
  useShellKeys(setOverlay);
  if (connection.state === "signed-out") return <SignedOut />;
  return (
    <>
      <Sprite />
      <a className="btn skip-link" href="#main">
        Skip to content
      </a>
      <div className="app">
        <Rail onFind={() => setOverlay("palette")} />
        <TopBar onFind={() => setOverlay("palette")} />
        <HostGone />
        <main className="main" id="main" tabIndex={-1}>
          <PageView />
        </main>
        <StatusLine />
        <BottomTabs />
      </div>
      <Announcer />
      <PageTitle />
      {overlay === "palette" && <Palette onClose={() => setOverlay(null)} />}
      {overlay === "keys" && <KeyList onClose={() => setOverlay(null)} />}
    </>
  );
}
