// Server-sent events out of the body of an answer. Our hub's frames are one `id:` and one `data:` line of JSON.

/**
 * The JSON of each frame, as it comes. `heard` is called for whatever arrives, comments too.
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} heard
 */
export async function* frames(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const data = part.split("\n").find((line) => line.startsWith("data:"));
        if (data) yield JSON.parse(data.slice(5));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
