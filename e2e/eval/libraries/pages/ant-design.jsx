import { Button, ConfigProvider, DatePicker, Select, Table } from "antd";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const ROLES = ["Reader", "Editor", "Owner"].map((name) => ({ value: name.toLowerCase(), label: name }));
const TAGS = ["Red", "Green", "Blue"].map((name) => ({ value: name.toLowerCase(), label: name }));
const MEMBERS = [
  { key: 1, name: "Mia", tasks: 4 },
  { key: 2, name: "Noor", tasks: 9 },
  { key: 3, name: "Ole", tasks: 7 },
];

function App() {
  const [role, setRole] = useState("reader");
  const [tags, setTags] = useState(["red", "blue"]);
  return (
    <ConfigProvider theme={{ token: { motion: false } }}>
      <h1>Members</h1>
      <Table
        pagination={false}
        rowSelection={{}}
        dataSource={MEMBERS}
        columns={[
          { title: "Name", dataIndex: "name" },
          { title: "Tasks", dataIndex: "tasks", sorter: (one, other) => one.tasks - other.tasks },
        ]}
      />
      <p>
        <label htmlFor="role">Role</label>
        <Select id="role" value={role} onChange={setRole} options={ROLES} style={{ width: 160 }} />
      </p>
      <p>
        <label htmlFor="tags">Tags</label>
        <Select
          id="tags"
          mode="multiple"
          value={tags}
          onChange={setTags}
          options={TAGS}
          style={{ width: 260 }}
        />
      </p>
      <p>
        <DatePicker aria-label="Until" />
      </p>
      <Button type="primary" onClick={() => window.done({ role, tags })}>
        Save
      </Button>
    </ConfigProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
