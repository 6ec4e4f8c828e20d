/**
 * Test pages that are hard for the tools to read. They have shadow roots, frames of other origins, hidden elements,
 * strict security policies, scripts that replace built-in functions, or very much content.
 */
export const nastyPages = (otherOrigin: string) => ({
  "/": `<!doctype html><title>Checkout</title>
    <style>.gone { display: none }</style>
    <h1>Checkout</h1>
    <div data-agent-session-overlay><button>Overlay button</button></div>
    <p id=intro onclick="alert(1)" style="color:red">Pay <b>nothing</b> today</p>
    <form action="javascript:alert(1)">
      <label>Email <input name=email type=email required value="a@b.example"></label>
      <label>Password <input name=pass type=password value="hunter2"></label>
      <label>Country <select name=country><option>Austria<option selected>Belgium</select></label>
      <label><input type=checkbox name=terms checked> Terms</label>
      <input type=date aria-label="Delivery day">
      <textarea aria-labelledby=note-label>Leave it at the door</textarea><span id=note-label>Note</span>
      <button disabled>Pay now</button>
    </form>
    <button class=gone>Secret sale</button>
    <a href="/next?x=1">Terms of trade</a>
    <div tabindex=0 aria-label="Custom control"></div>
    <div id=host></div>
    <img src="data:image/png;base64,AAAA" alt="A red shoe">
    <iframe name=same src="/inner" width=300 height=80></iframe>
    <iframe id=pay src="${otherOrigin}/card" width=300 height=120></iframe>
    <iframe class=gone src="${otherOrigin}/hidden"></iframe>
    <script>
      const outer = document.querySelector("#host").attachShadow({ mode: "open" });
      outer.innerHTML = "<button>Add</button><x-inner></x-inner><p>Shadow words</p>";
      const inner = outer.querySelector("x-inner").attachShadow({ mode: "open" });
      inner.innerHTML = "<button>Add</button><button>Remove</button>";
    </script>`,
  "/inner": "<title>Inner</title><p>Inner words</p><button>Inner button</button>",
  "/strict": {
    headers: { "content-security-policy": "default-src 'none'; require-trusted-types-for 'script'" },
    body: "<title>Strict</title><h1>Strict heading</h1><button>Strict button</button>",
  },
  "/hostile": `<title>Hostile</title><button>Real</button><script>
      Array.prototype.map = Array.prototype.filter = document.querySelectorAll = () => { throw new Error("caught you") };
      JSON.stringify = () => "nonsense"; Element.prototype.getBoundingClientRect = () => ({ x: 1e9 });
    </script>`,
  "/huge": `<title>Huge</title><ul>${"<li><a href=#>Entry</a> <span>words</span></li>".repeat(5_000)}</ul><button id=last>Last</button>`,
  "/tall":
    "<title>Tall</title><body style='margin:0'><div style='height:20000px;background:linear-gradient(red,blue)'></div>",
  "/plain": "<title>Plain</title><p>Nothing to act on.</p>",
});

/** Pages that `nastyPages` embeds from another origin. */
export const otherPages = {
  "/card": "<title>Card</title><label>Card number <input name=card></label><p>Card words</p>",
  "/hidden": "<button>Hidden frame button</button>",
};
