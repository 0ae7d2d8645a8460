// The only way to the server: JSON in, JSON out, and one stream of events.

async function answer(response) {
  const content = await response.json().catch((error) => {
    // A request that was taken back while its answer was read is no answer.
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (!response.ok || content === null) throw new Error(content?.error ?? `The server answered ${response.status}.`);
  return content;
}

export const get = async (path, signal) => answer(await fetch(path, { signal }));

export const post = async (path, body = {}, signal) =>
  answer(
    await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    }),
  );

/** Hear of every change. A hidden tab lets go of its connection: browsers allow only six to one server. */
export function listen(hear, lost) {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource("/api/events");
    source.onmessage = (event) => {
      const now = JSON.parse(event.data);
      lost(false);
      hear(now);
      if (now.phase === "ended") close();
    };
    source.onerror = () => lost(true);
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  open();
}
