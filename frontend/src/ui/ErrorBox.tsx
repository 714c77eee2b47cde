/** The box for an error: message, hint, and "Try again" if that can help. */

import type { ReactNode } from "react";

import { ApiError } from "../api/errors";
import { ERROR_PAGES, LearnMore } from "./LearnMore";

/** An error at the place where it belongs: what happened, what to do, and a way to try again if that can help. */
export function ErrorBox({ error, again, children }: { error: unknown; again?: () => void; children?: ReactNode }) {
  const retry = error instanceof ApiError && error.featureMissing ? undefined : again;
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError ? error.hint : "";
  const page = error instanceof ApiError && !error.unreachable ? ERROR_PAGES[error.kind] : undefined;
  return (
    <div className="error-box" role="alert">
      <p>
        <b>{message}</b> {hint} {page && <LearnMore page={page} />}
      </p>
      <div className={retry || children ? "row space-above-8" : "row"}>
        {retry && (
          <button type="button" className="btn small" onClick={retry}>
            Try again
          </button>
        )}
        {children}
      </div>
    </div>
  );
}
