// The page where one signs in. Without this script it works all the same.

const link = /** @type {HTMLFormElement|null} */ (document.getElementById("link"));
const login = document.getElementById("login");

// A link that was sent to a browser signs in by itself. What only looks at links, as mail programs do, runs no script.
if (link) link.requestSubmit();

// A browser keeps the cookie back from who follows a link on another site, but sends it to a page of the hub itself:
// whoever has signed in before is then led on from here.
if (login && !document.getElementById("problem")) {
  const answer = await fetch(location.href, { redirect: "manual" });
  if (answer.type === "opaqueredirect") location.replace(login.dataset.next);
}
